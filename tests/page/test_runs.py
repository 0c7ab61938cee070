"""Uploaded runs: their names, their results, what the tab shows of them, and a query of theirs as a ranking."""

import base64
import doctest
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
from page.choices import DOCUMENTS, LINKED, bar_of, options_of
from page.contributions import Ranking
from page.events import MendableError
from page.metric import ndcg
from page.paste import ids_as_run
from page.queries import EXTREMES, query_bars, side_by_side
from page.results import RUNS, Results, read_files, results_of, rows_of_query, run_names
from page.runs import Shown, open_run, show_results, take_choice, take_offer
from page.standings import signed

BAR = bar_of("sklearn")
OPTIONS = options_of(*BAR)
QRELS = "q1 0 a 1\nq1 0 b 2\nq2 0 a 2\nq3 0 a 1\n"
QRELS_READ = {"q1": {"a": 1, "b": 2}, "q2": {"a": 2}, "q3": {"a": 1}}
TWO = {"x": "q1: a b\nq2: a", "y": "q1: b\nq3: z\nq4: a"}


def uploaded(folder: Path, *, qrels: str, **runs: str) -> tuple[str, list[str]]:
    """The paths of qrels, and of runs: lists of ids, best first, or texts of other formats."""
    for name, text in {"qrels": qrels, **runs}.items():
        (folder / name).write_text(ids_as_run(text))
    return str(folder / "qrels"), [str(folder / name) for name in runs]


def found(qrels: str, runs: list[str], bar: Any = BAR) -> Results:
    return results_of(qrels, tuple(runs), None, tuple(bar))


def shown(
    qrels: str | None, runs: Any, chosen: str = "{}", groups: str | None = None, bar: Any = BAR
) -> Shown:
    everything: Shown = show_results(chosen, qrels, runs, groups, *bar)
    return everything


def after_offer(
    offer: Any, qrels: str = "qrels", runs: Any = ("run",)
) -> tuple[str, list[str], str, list[Any]]:
    """The qrels, the runs, the convention and the bar after a button was pressed."""
    event: Any = SimpleNamespace(name=offer[0], choice=offer[1])
    qrels, runs, convention, *bar = take_offer(event, qrels, runs, "sklearn", *BAR)
    return qrels, runs, convention, bar


def test_runs_are_named_by_their_files_each_by_a_name_of_its_own() -> None:
    paths = ["1/bm25.run", "2/bm25.txt.gz", "3/bm25.CSV", "4/.run", "5/bm25.jsonl.zst", "6/v1.2"]
    names = ["bm25", "bm25 (2)", "bm25 (3)", ".run", "bm25 (4)", "v1.2"]
    assert [*run_names(paths).items()] == [*zip(names, paths, strict=True)]


def test_a_long_beginning_of_all_names_is_said_once(tmp_path: Path) -> None:
    begin = "msmarco-dev-small-bge-base-en-v1.5-"
    qrels, runs = uploaded(
        tmp_path, qrels=QRELS, **{f"{begin}{name}": lines for name, lines in TWO.items()}
    )
    view = shown(qrels, runs).view
    assert view.count(begin) == 1
    assert f"The names of all runs begin with “{begin}”, which the page leaves out." in view
    assert [*read_files(qrels, runs, {})[1]] == [*TWO]
    assert "begin with" not in shown(qrels, runs[:1]).view
    assert doctest.testmod(results).failed == 0


def test_an_error_names_the_run_and_the_qrels(tmp_path: Path) -> None:
    said = "run: no query is in the qrels; ids are such as &#x27;z&#x27; in the run, &#x27;q1&#x27; in the qrels"
    qrels, runs = uploaded(tmp_path, qrels=QRELS, **TWO, other="z Q0 a 1 1 t")
    assert f">other: {said}" in shown(qrels, runs).view
    assert f">{said}" in shown(qrels, runs[-1:]).view


def test_one_run_has_the_values_that_it_has_among_several(tmp_path: Path) -> None:
    qrels, runs = uploaded(tmp_path, qrels=QRELS, **TWO)
    both, alone = found(qrels, runs), found(qrels, runs[:1])
    expected = ndcg.compute(predictions=runs[0], references=qrels, k=10, use_aggregator=False)[
        "nDCG@10"
    ]
    assert alone.values["nDCG@10", "x"].tolist() == both.values["nDCG@10", "x"].tolist() == expected
    assert alone.values.index.tolist() == both.values.index.tolist() == ["q1", "q2", "q3"]
    assert both.missing == {"x": ["q3"], "y": ["q2"]}
    assert alone.pairs == ()


def test_runs_of_distances_are_shown_as_runs_of_scores_once_the_lowest_ranks_first(
    tmp_path: Path,
) -> None:
    qrels, runs = uploaded(
        tmp_path,
        qrels=QRELS,
        x="q1 Q0 a 1 -1.5 t\nq1 Q0 b 2 -3 t\nq2 Q0 a 1 0 t",
        y="q1 Q0 b 1 0 t",
    )
    expected = shown(qrels, runs)
    for run in runs:
        Path(run).write_text(Path(run).read_text().replace(" -", " "))
    lowest_first = shown(qrels, runs, bar=[*BAR[:-1], "ascending"])
    assert (lowest_first.view, lowest_first.beside) == (expected.view, expected.beside)
    assert "order:ascending" in lowest_first.signature


def test_the_same_run_twice_is_said_to_be_the_same(tmp_path: Path) -> None:
    qrels, runs = uploaded(tmp_path, qrels=QRELS, **TWO, again=TWO["x"])
    assert "again and x are the same run." in shown(qrels, runs).view


def test_a_negative_relevance_is_counted_and_one_press_counts_it_as_0(tmp_path: Path) -> None:
    qrels, runs = uploaded(tmp_path, qrels="q1 0 a 1\nq1 0 b -1\nq2 0 b -2\n", **TWO)
    said = (
        "qrels: line 2: query 'q1', document 'b': the relevance -1 is negative (2 such judgments)."
    )
    for some in (runs, runs[:1]):
        with pytest.raises(MendableError, match=re.escape(said)) as problem:
            found(qrels, some)
        *_, bar = after_offer(problem.value.offer)
        assert found(qrels, runs, bar).pairs


def test_a_negative_relevance_that_may_be_padding_is_to_be_left_out_first(tmp_path: Path) -> None:
    qrels, runs = uploaded(tmp_path, qrels="q1 0 a 1\nq1 0 b -1\nq2 0 b -1\n", **TWO)
    said = r"is negative \(2 such judgments\)\. If it is padding, leave its document out\.$"
    with pytest.raises(MendableError, match=said):
        found(qrels, runs)


def test_distances_are_ranked_lowest_first_by_one_press(tmp_path: Path) -> None:
    lines = "query,document,distance\nq1,b,0.1\nq1,a,0.5\nq2,a,0.3\n"
    qrels, runs = uploaded(tmp_path, qrels=QRELS, **{"l2.csv": lines})
    with pytest.raises(
        MendableError, match=r"^l2\.csv: the column 'distance' is best where it is lowest\.$"
    ) as problem:
        found(qrels, runs)
    *_, bar = after_offer(problem.value.offer)
    assert found(qrels, runs, bar).values["nDCG@10", "l2"].tolist() == [1, 1, 0]


def test_qrels_may_hold_labels(tmp_path: Path) -> None:
    words = {"1": "partly", "2": "very relevant"}
    qrels, runs = uploaded(tmp_path, qrels=QRELS, **TWO)
    expected = shown(qrels, runs)
    judged = [line.split() for line in QRELS.splitlines()]
    rows = [f"{query},{document},{words[grade]}\n" for query, _, document, grade in judged]
    Path(qrels).write_text("query,document,label\n" + "".join(rows))
    bar = [*BAR[:2], "partly=1, very relevant=2", *BAR[3:]]
    by_label = shown(qrels, runs, bar=bar)
    assert by_label.view == expected.view
    assert "aria-label='relevance very relevant'>very relevant</span>" in by_label.beside
    assert "gain:partly=1,very relevant=2|" in by_label.signature
    event: Any = SimpleNamespace(query="q1", runs=["y"])
    assert open_run(event, qrels, runs, *bar)[0].value["data"] == [
        ["b", "very relevant", "1"],
        ["a", "partly", ""],
    ]
    said = "qrels: line 2: the relevance 'partly' is not a number; for labels, give the gain of each, in Gain: "
    assert said in html.unescape(shown(qrels, runs).view)


def test_a_document_listed_twice_counts_once_by_one_press(tmp_path: Path) -> None:
    qrels, runs = uploaded(
        tmp_path, qrels=QRELS, chunks="q1 Q0 a 1 3 t\nq1 Q0 a 2 2 t\nq1 Q0 b 3 1 t\nq2 Q0 a 1 1 t"
    )
    with pytest.raises(
        MendableError, match=r"^chunks: line 2: .*, or Listed several times set to \"at the best"
    ) as problem:
        found(qrels, runs)
    *_, bar = after_offer(problem.value.offer)
    once = ndcg.compute(
        predictions={"q1": ["a", "b"], "q2": ["a"]},
        references=QRELS_READ,
        k=10,
        use_aggregator=False,
    )
    assert found(qrels, runs, bar).values["nDCG@10", "chunks"].tolist() == once["nDCG@10"]


def test_an_offer_of_an_option_keeps_the_others() -> None:
    *files, _, bar = after_offer(("missing", "skip"))
    assert files == ["qrels", ("run",)]
    assert bar == [
        value if name != "missing" else "skip" for name, value in zip(LINKED, BAR, strict=True)
    ]


def test_a_run_uploaded_as_qrels_is_noticed_and_swapped_by_one_press(tmp_path: Path) -> None:
    beir, json = "query-id\tcorpus-id\tscore\nq\ta\t1\n", '{"q": {"a": 0.5, "b": 0.1}}'
    qrels, (run, other, beir, json) = uploaded(
        tmp_path, qrels="q 0 a 1\nq 0 b 0\n", run="q: a", other="q: b", beir=beir, json=json
    )
    for as_qrels, as_runs in (
        (run, [qrels]),
        (run, [other, qrels]),
        (run, [beir]),
        (json, [qrels]),
    ):
        with pytest.raises(MendableError, match="in each other's place") as problem:
            found(as_qrels, as_runs)
        swapped = as_runs[-1], [*as_runs[:-1], as_qrels]
        assert after_offer(problem.value.offer, as_qrels, as_runs)[:2] == swapped
    with pytest.raises(ValueError, match=r"^run: line 1: 6 columns; .*swapped\?$") as no_offer:
        found(run, [other])
    assert not isinstance(no_offer.value, MendableError)
    assert found(json, [beir]).scores  # each could be either


def test_runs_are_limited_in_number_and_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    qrels, (run, _) = uploaded(tmp_path, qrels=QRELS, **TWO)
    assert len(read_files(qrels, [run] * RUNS, {})[1]) == RUNS == 20
    with pytest.raises(ValueError, match=r"^21 runs; at most 20 are compared\."):
        read_files(qrels, [run] * 21, {})
    for unit, most in (("bytes", Path(run).stat().st_size * 3), ("rows", 9)):  # of three runs
        monkeypatch.setattr(results, "TOGETHER", {"bytes": 10**9, "rows": 10**9, unit: most})
        read_files(qrels, [run] * 3, {})
        with pytest.raises(ValueError, match=f"^The runs hold more than {most} {unit} together"):
            read_files(qrels, [run] * 4, {})


def test_the_tab_shows_samples_until_it_has_files() -> None:
    view = shown(None, None).view
    assert "These are two sample runs." in view
    assert "is missing from dense and counts as 0" in view
    assert "<h2 role='status'>dense is better than bm25.</h2>" in view
    for half in (("qrels", None), (None, ["run"])):
        assert shown(*half).view == "<p class='note'>Upload the qrels and at least one run.</p>"


def test_an_error_is_shown_in_place_of_the_results() -> None:
    view, *others = shown(None, None, bar=["x", *BAR[1:]])
    assert "'x' is not a cutoff" in html.unescape(view)
    assert others == [None] * (len(Shown._fields) - 1)


def test_all_numbers_are_those_of_the_comparison(tmp_path: Path) -> None:
    qrels, (*runs, groups) = uploaded(tmp_path, qrels=QRELS, **TWO, groups="q1,de\nq2,fr\nq3,de\n")
    everything = shown(qrels, runs, groups=groups)
    by = {"q1": "de", "q2": "fr", "q3": "de"}
    expected = ndcg.compare(
        systems=dict(zip("xy", runs, strict=True)), references=qrels, k=10, missing="empty", by=by
    )
    *tables, audit = (
        [
            re.findall("<td>(.*?)</td>", row)
            for row in re.findall("<tr>(.*?)</tr>", table, re.DOTALL)
        ]
        for table in re.findall(
            "<table.*?</table>", everything.numbers.replace("&nbsp;", " "), re.DOTALL
        )
    )
    assert tables == [table[1:] for table in expected.tables()]
    assert any("de" in row for table in tables for row in table)
    assert audit == [
        ["x", "3", "2", "0", "1", "0", "0 of 3"],
        ["y", "3", "3", "1", "1", "0", "1 of 2"],
    ]
    coded = re.findall("download='.*?' href='.*?base64,(.*?)'", everything.numbers)
    summary, queries = (pd.read_csv(io.BytesIO(base64.b64decode(data))) for data in coded)
    (pair,) = expected.pairs
    assert summary["low_holm"].dropna().tolist() == pytest.approx([pair.low_holm], abs=1e-12)
    assert summary["value"].dropna().tolist() == pytest.approx(
        [expected.scores[run]["nDCG@10"].value for run in "xy"]
    )
    assert queries["x nDCG@10"].tolist() == pytest.approx(
        expected.queries.to_pandas()["nDCG@10"][:3].tolist()
    )
    assert everything.signature == expected.signature
    differences = expected.differences("x", "y", n=None).to_pydict()
    differing = dict(zip(differences["query"], map(signed, differences["difference"]), strict=True))
    assert dict(re.findall("data-query='(.*?)'.*?number'>(.*?)<", everything.view)) == {
        **differing,
        "q3": "0.000",
    }
    assert "\\begin{tabular}" in everything.latex
    assert expected.to_markdown() in everything.markdown


def test_too_few_queries_are_told(tmp_path: Path) -> None:
    texts = {"qrels": "{} 0 a 1\n", "x": "{}: a b\n", "y": "{}: b a\n"}
    qrels, runs = uploaded(
        tmp_path, **{name: "".join(map(line.format, "1234")) for name, line in texts.items()}
    )
    # 4 queries that differ have 2^4 permutations, of which 2 are as extreme
    said = "1 of 1 pairs cannot be significant: with 4 queries that differ, p is at least 0.1250."
    assert said in shown(qrels, runs).view


def test_trec_evals_score_is_told_and_offered_if_ties_matter(tmp_path: Path) -> None:
    tied = "q Q0 a 1 1 t\nq Q0 b 2 1 t\n"
    qrels, runs = uploaded(tmp_path, qrels="q 0 a 1\nq 0 b 0\n", run=tied)
    given = {"predictions": runs[0], "references": qrels}
    here, there = (
        ndcg.compute(**given, convention=each)["nDCG"] for each in ("sklearn", "trec_eval")
    )
    said = f"trec_eval, which orders by id, has nDCG@10 {there:.4f} instead of {here:.4f} for run."
    assert said in shown(qrels, runs).view
    *_, convention, bar = after_offer(("convention", "trec_eval"))
    assert convention == "trec_eval"
    assert ndcg.signature(**options_of(*bar)) == ndcg.signature(k=10, convention="trec_eval")
    assert "by id" not in shown(qrels, runs, bar=bar).view


def test_notes_are_in_the_words_of_the_page(tmp_path: Path) -> None:
    numbers = html.unescape(shown(*uploaded(tmp_path, qrels=QRELS, run="q1: a b")).numbers)
    assert (
        'missing from the run and counted as 0; Query not in the run set to "skipped" skips them.'
        in numbers
    )


def test_one_query_is_shown_without_intervals(tmp_path: Path) -> None:
    everything = shown(
        *uploaded(tmp_path, qrels="q1 0 a 1\nq1 0 b 2\n", bad="q1: a b", good="q1: b a")
    )
    assert "One query cannot tell the 2 runs apart." in everything.view
    assert (
        "good has nDCG@10 1.000, bad 0.860. Intervals and tests need more than one query."
        in everything.view
    )
    assert "Query q1" in everything.beside


@NOTHING_IN_COMMON
@pytest.mark.parametrize("queries", [1, 2])
@pytest.mark.parametrize("runs", [["other"], ["other", "same"]])
def test_a_warning_says_that_a_run_has_no_document_in_common_with_the_qrels(
    tmp_path: Path, queries: int, runs: list[str]
) -> None:
    lines = {"qrels": "q{} 0 7 1\n", "other": "q{}: doc7\n", "same": "q{}: 7\n"}
    texts = {name: "".join(map(line.format, range(queries))) for name, line in lines.items()}
    qrels, _ = uploaded(tmp_path, **texts)
    ids = "first retrieved: query 'q0', document 'doc7'; first judged: query 'q0', document '7'"
    view = shown(qrels, [str(tmp_path / name) for name in runs]).view
    assert html.escape(f"No document was both retrieved and judged; {ids}") in view


def test_a_choice_is_kept_until_another_one() -> None:
    def chosen(now: str, name: str, choice: str) -> str:
        return take_choice(now, SimpleNamespace(name=name, choice=choice))

    assert chosen('{"measure": "nDCG@1"}', "other", "x") == '{"measure": "nDCG@1", "other": "x"}'
    assert (
        chosen('{"measure": "nDCG@1", "other": "x"}', "base", "y")
        == '{"measure": "nDCG@1", "base": "y"}'
    )


def test_bars_have_their_ends_named_and_gains_on_top() -> None:
    size = 40
    values = pd.Series({f"q{at}": 1 - at / 16 for at in range(size)}) / 2  # of which 16 are gains
    values["<i>"] = math.nan
    drawn = query_bars(
        values.sample(frac=1, random_state=0), ("x", "y"), "nDCG", {"x": [], "y": ["q39"]}, "q0"
    )
    named, folded, rest = re.split("<details>(.*)</details>", drawn)
    named += rest
    ends = [*range(EXTREMES), *range(size - EXTREMES, size)]
    assert re.findall("data-query='q(.*?)'", named) == list(map(str, ends))
    assert re.findall("data-query='q(.*?)'", folded) == list(
        map(str, range(EXTREMES, size - EXTREMES))
    )
    assert f"<summary>{size - 2 * EXTREMES} more<" in folded
    places = [
        tuple(map(float, each)) for each in re.findall("style='left:(.*?)%;width:(.*?)%'", named)
    ]
    widest = 23 / 16  # of the last
    for at, (left, width) in zip(ends, places, strict=True):
        value = (1 - at / 16) / widest
        assert width == pytest.approx(50 * abs(value), abs=0.1)
        assert left == pytest.approx(50 if value > 0 else 50 - width, abs=0.1)
    assert "← y better on 23<" in drawn
    assert ">x better on 16 →" in drawn
    assert re.findall("class=chosen.*?Open query (.*?)'", drawn) == ["q0"]
    assert re.findall(">(q[^<]*)</button> <small>missing", drawn) == ["q39"]
    assert "<i>" not in drawn


def test_few_queries_and_those_of_one_run_are_all_named_and_the_worst_come_first() -> None:
    drawn = query_bars(
        pd.Series({"a": 0.5, "b": 0.25, "c": math.nan}), ("x",), "nDCG", {"x": ["b"]}
    )
    bars = re.findall("data-query='(.)'.*?left:(.*?)%;width:(.*?)%.*?number'>(.*?)<", drawn)
    assert bars == [("b", "0", "50", "0.250"), ("a", "0", "100", "0.500")]
    assert "<details>" not in drawn


def beside(
    query: str,
    cutoffs: str = "",
    sums: Any = (1, 1, 1),
    others: Any = (1, 1, 1),
    **rankings: Ranking,
) -> str:
    """The rankings of two runs side by side, and where each document is in the other, up or down."""
    names = [f"{name}@{cutoffs}" if cutoffs else name for name in ("nDCG", "DCG", "IDCG")]
    by_run = {
        run: dict(zip(names, each, strict=True))
        for run, each in zip(rankings, (sums, others), strict=True)
    }
    return side_by_side(query, rankings, by_run, options_of(cutoffs, *BAR[1:]))


def elsewhere(drawn: str) -> list[tuple[str, str]]:
    return re.findall("<small class='(.*?)'>(.*?)</small>", drawn)


def test_a_document_says_where_the_other_run_has_it() -> None:
    x = Ranking(["a", "<b>", "c"], [3.0, None, 1.0], [2.0, 1.0, None])
    y = Ranking(["<b>", "c", "a"], [None, 1.0, 3.0], [2.0, 1.0, 0.5])
    drawn = beside("<q>", "3", (0.9, 3.0, 3.6), (0.1, 0.6, 3.6), x=x, y=y)
    up, down = [("up", f"↑ {rank} there") for rank in (3, 2)], ("down", "↓ 1 there")
    assert elsewhere(drawn) == [up[0], down, up[1], ("up", "not there"), down]
    assert "Relevant, not retrieved: c (relevance 1)" in drawn
    assert re.findall("<h3>(.*?)</h3><p>(.*?) <", drawn) == [
        ("x: nDCG@3 0.9000", "DCG 3.0000 ÷ ideal 3.6000"),
        ("y: nDCG@3 0.1000", "DCG 0.6000 ÷ ideal 3.6000"),
    ]
    graded = re.findall("aria-label='(relevance .*?|not judged)'>(.*?)</span>", drawn)
    assert graded[:2] == [("relevance 3", "<i class=on></i>" * 3), ("not judged", "not judged")]
    assert not {"<b>", "<q>"} & set(re.findall("<.*?>", drawn))


def test_documents_that_share_ranks_have_the_one_in_the_middle() -> None:
    one = Ranking(["a", "b", "c"], [1.0, 1.0, 1.0], [3.0, 2.0, 1.0])
    drawn = beside("q", one=one, two=one._replace(score=[3.0, 2.0, 2.0]))
    where = [("same", "1 there"), ("up", "↑ 2–3 there"), ("down", "↓ 2–3 there")]
    assert elsewhere(drawn) == [
        *where,
        ("same", "1 there"),
        ("down", "↓ 2 there"),
        ("up", "↑ 3 there"),
    ]
    assert drawn.count("<li class='tied' data-tied='2–3'>") == 2


def test_a_query_that_is_missing_from_a_run_says_so() -> None:
    x = Ranking(["a"], [1.0], [2.0])
    drawn = beside("q", others=(math.nan,) * 3, x=x, y=x._replace(score=[None]))
    assert drawn.count("This query is missing from y: nothing was retrieved.") == 1
    assert "missing from x" not in drawn
    assert "<h3>y: nDCG skipped</h3>" in drawn


def test_the_numbers_of_a_query_are_of_all_its_documents(tmp_path: Path) -> None:
    """Only a part of them is drawn: up to the cutoff, and those tied with one there."""
    size = DOCUMENTS + 100
    judged = {f"d{at}": at % 4 for at in range(size)}
    qrels, runs = uploaded(
        tmp_path,
        qrels="".join(f"q 0 {document} {relevance}\n" for document, relevance in judged.items())
        + "p 0 d1 1\n",
        run="q: " + " ".join(f"d{at * 7 % size}" for at in range(size)),
    )
    drawn = shown(qrels, runs, '{"measure": "nDCG@5"}', bar=["5", *BAR[1:]]).beside
    assert drawn.count("<span class='card") == 5
    sums = ndcg.compute(
        predictions=runs[0], references={"q": judged}, k=5, measures=["nDCG", "DCG", "IDCG"]
    )
    assert f"run: nDCG@5 {sums['nDCG@5']:.4f}" in drawn
    assert f"DCG {sums['DCG@5']:.4f} ÷ ideal {sums['IDCG@5']:.4f}" in drawn


def test_a_query_opens_with_what_was_retrieved_and_what_was_missed() -> None:
    qrels = {"q": {"a": 2.0, "missed": 1.0, **{f"m{at}": 0.0 for at in range(DOCUMENTS)}}}
    rows, what = rows_of_query({"q": {"x": 1.5, "a": 2.0}}, qrels, "q", "one", OPTIONS)
    assert rows[:3] == [["a", "2", "2"], ["x", "", "1.5"], ["missed", "1", ""]]
    assert len(rows) == DOCUMENTS
    assert what == f"Query q by one, {DOCUMENTS} of {DOCUMENTS + 3} documents"
    rows, what = rows_of_query({"p": {"x": 1.0}}, qrels, "q", "two", OPTIONS)
    assert rows[0] == ["a", "2", ""]
    assert what.startswith("Query q by two")
