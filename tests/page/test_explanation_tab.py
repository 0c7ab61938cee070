"""Explaining a score: the conventions that give it, for a ranking, files, a batch or the card's example."""

import html
import re
from pathlib import Path
from typing import Any

import evaluate
import pytest
from conftest import NOTHING_IN_COMMON

from page.choices import bar_of
from page.explanation import CARD_EXAMPLE, SOURCES, explain_reported
from page.guide import FIRST_RANKING
from page.ranking import table_of

RANKING, RUNS, BATCH, CARD = SOURCES
TEXTBOOK = table_of(FIRST_RANKING)


def shown(
    source: str, got: str = "", values: str = "", own: str = "", table: Any = TEXTBOOK, **given: Any
) -> str:
    files, batch = given.get("files", (None, None)), given.get("batch", [""] * 4)
    html: str = explain_reported(
        source, got, values, own, table, *files, *batch, *bar_of("sklearn")
    )
    return html


def owners(html: str) -> dict[str, str]:
    """The number of each convention."""
    rows = re.findall(r"<tr>\s*<td>(.*?)</td>\s*<td>(.*?)</td>", html.partition("</table>")[0])
    return {name: number for names, number in rows for name in names.split(", ")}


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, list[str]]:
    (tmp_path / "qrels.txt").write_text("q 0 a 0\nq 0 b 1\np 0 a 1\n")
    (tmp_path / "bm25.run").write_text("q Q0 a 1 2 t\nq Q0 b 2 1 t\np Q0 a 1 2 t\n")
    return str(tmp_path / "qrels.txt"), [str(tmp_path / "bm25.run")]


def test_each_convention_has_its_number(ndcg: evaluate.Metric) -> None:
    found = owners(shown(CARD))
    assert found["sklearn"] == "0.5921"  # as on the card
    assert set(found) == set(ndcg.explain(**CARD_EXAMPLE, k=10).scores)
    for name, number in found.items():
        assert number == f"{ndcg.compute(**CARD_EXAMPLE, k=10, convention=name)['nDCG@10']:.4f}"


def test_the_conventions_that_have_the_number_are_named_and_marked(ndcg: evaluate.Metric) -> None:
    matches = ndcg.explain(**CARD_EXAMPLE, k=10, got="0.6496").matches
    html = shown(CARD, "0.6496")
    assert f"<h3>0.6496 is the nDCG@10 of {', '.join(matches[:-1])} and {matches[-1]}.</h3>" in html
    assert [names for names, _ in re.findall(r"<td>(.*?)</td>.*\s*<td>(0.6496)</td>", html)] == [
        ", ".join(matches)
    ]
    assert html.count("<td>match</td>") == 1
    assert "Why ranx_burges differs from sklearn" in html
    assert "match" not in shown(CARD)


def test_scores_at_several_cutoffs_and_values_of_queries_are_explained(
    ndcg: evaluate.Metric, files: tuple[str, list[str]]
) -> None:
    scores = ndcg.compute(**CARD_EXAMPLE, measures=["nDCG@2", "nDCG@3"], convention="lightgbm")
    html = shown(CARD, f"{scores['nDCG@2']:.4f}@2,{scores['nDCG@3']:.4f}@3")
    assert " are those of lightgbm" in html
    html = shown(
        RUNS,
        values="ndcg_cut_10 q 0.6309\nndcg_cut_10 p 1.0000\nndcg_cut_10 all 0.8155",
        files=files,
    )
    assert html.startswith("<h3>bm25: These values of queries are the nDCG@10 of sklearn")
    assert "1 query differs from it: q." in shown(RUNS, values="q 0.1\np 1.0000", files=files)


def test_the_ranking_is_the_visitors_or_is_called_the_example(ndcg: evaluate.Metric) -> None:
    assert "<h3>The page&#x27;s example: 0.9608 is the nDCG@10 of sklearn" in shown(
        RANKING, ".9608"
    )
    edited = TEXTBOOK.copy()
    edited.iloc[0, 1] = "1"
    assert "example" not in shown(RANKING, ".9608", table=edited)
    number = ndcg.compute(predictions=[[2, 1]], references=[[1, 2]])["nDCG"]
    assert f"<h3>{number:.4f} is the nDCG@10 of " in shown(RANKING, f"{number:.4f}", own="1 2")
    assert "These lines are of 2 queries" in shown(RANKING, own="q1 0 d1 1\nq2 0 d1 1")


def test_a_score_above_1_may_be_a_percentage_or_a_dcg() -> None:
    assert "No convention gives 0.015; the nearest is" in shown(RANKING, "1.5%")
    assert "It cannot be told which convention gives 0.96: sklearn, trec_eval" in shown(
        RANKING, "96"
    )
    assert "<h3>The page&#x27;s example: 0.9608 is the nDCG@10 of sklearn" in shown(
        RANKING, "96.08"
    )
    assert "a slip gives 6.8611: DCG called nDCG" in shown(RANKING, "6.8611")


def test_options_that_give_a_score_are_in_the_words_of_the_page_and_as_a_call_in_python(
    ndcg: evaluate.Metric,
) -> None:
    number = ndcg.compute(**CARD_EXAMPLE, k=10, ideal="full", score_dtype="float32")["nDCG@10"]
    title = html.unescape(shown(CARD, f"{number:.6f}"))
    assert re.search(
        rf"but Ideal set to \"full\".* gives {number:.6g} \(in Python: convention=.*ideal='full'\)\.",
        title,
    )
    assert "in the shell" not in title


def test_a_batch_and_runs_are_explained(files: tuple[str, list[str]]) -> None:
    assert owners(shown(BATCH, batch=("[[1, 2]]", "[[0, 1]]", "", "")))["sklearn"] == "1.0000"
    assert shown(RUNS, "0.8155", files=files).startswith("<h3>bm25: 0.8155 is the nDCG@10 of ")


def test_several_runs_are_in_one_table(
    ndcg: evaluate.Metric, files: tuple[str, list[str]], tmp_path: Path
) -> None:
    (tmp_path / "dense.run").write_text("q Q0 b 1 2 t\nq Q0 a 2 1 t\np Q0 a 1 2 t\n")
    html = shown(RUNS, "0.8155", files=(files[0], [*files[1], str(tmp_path / "dense.run")]))
    assert len(re.findall("<figcaption.*?under each convention", html)) == 1
    assert html.startswith("<h3>bm25: 0.8155 is the nDCG@10 of ")
    assert "<h3>dense: " in html
    header, *rows = [
        re.findall(r"<t[hd].*?>(.*?)</t[hd]>", row)
        for row in html.partition("</table>")[0].split("<tr")[1:]
    ]
    assert header == ["conventions", "bm25", "dense"]
    assert len({tuple(row[1:]) for row in rows}) == len(rows) < len(ndcg.CONVENTIONS)
    assert "0.8155 (match)" in {row[1] for row in rows}


@pytest.mark.parametrize(
    ("got", "title"),
    [
        ("0.6496", "<h3>0.6496 is the nDCG@10 of ranx_burges, rax and elasticsearch.</h3>"),
        ("0.65", "<h3>It cannot be told which convention gives 0.65: "),
        ("0.72", "<h3>It cannot be told what gives 0.72: "),
        ("0.0123", "<h3>No convention gives 0.0123; "),
    ],
)
def test_the_title_tells_only_what_chance_would_not(got: str, title: str) -> None:
    assert shown(CARD, got).startswith(title)


def test_a_slip_is_named_with_a_link_to_the_page_of_slips_in_a_space(
    ndcg: evaluate.Metric, monkeypatch: pytest.MonkeyPatch
) -> None:
    dcg = ndcg.compute(**CARD_EXAMPLE, k=10, measures="DCG")["DCG@10"]
    html = shown(CARD, f"{dcg:.6f}")
    assert f"<h3>sklearn with a slip gives {dcg:g}: DCG called nDCG.</h3>" in html
    assert "Why sklearn with a slip differs from sklearn" in html
    known = "<p>See all {}, with rankings that show them.</p>"
    assert known.format("known slips") in html
    assert "known slips" not in shown(CARD, "0.5921")
    monkeypatch.setenv("SPACE_ID", "someone/nDCG")
    address = "https://huggingface.co/spaces/someone/nDCG/blob/main/docs/slips.md"
    assert known.format(f"<a href='{address}' target='_blank'>known slips</a>") in shown(
        CARD, f"{dcg:.6f}"
    )


@NOTHING_IN_COMMON
def test_a_note_says_that_a_run_has_no_document_in_common_with_the_qrels(
    files: tuple[str, list[str]],
) -> None:
    Path(files[1][0]).write_text("q Q0 doc7 1 2 t")
    assert "<li>No document was both retrieved and judged; first retrieved:" in shown(
        RUNS, "0.000", files=files
    )


@pytest.mark.parametrize(
    ("source", "got", "said"),
    [
        (RANKING, "many", "The score I got must be an nDCG"),
        (CARD, "/etc/passwd", "The score I got must be an nDCG"),
        (CARD, __file__, "The score I got must be an nDCG"),  # a file of the server is never read
        (
            RANKING,
            "1",
            "Nearly every convention rounds to 1: write the digits that you have, such as 0.97 or 1.00.",
        ),
        (RANKING, "0.96@5, 0@10", "Nearly every convention rounds to 0"),
        (RANKING, "1.5", "1.5 is above 1, the highest nDCG. If it is a percentage, write 1.5%."),
        (RANKING, "0,5921", "Write 0.5921: a comma separates scores, as in 0.31@5,0.283@10."),
        (CARD, "1.5", "1.5 is above 1"),  # although conventions with other options give 0.015
        (RUNS, "", "Upload the qrels"),
        (BATCH, "", "Give predictions"),
    ],
    ids=[
        "no number",
        "no such file",
        "a file",
        "no digits",
        "no digits of one",
        "no percentage",
        "decimal comma",
        "no percentage that options give",
        "no files",
        "no batch",
    ],
)
def test_errors_are_shown(source: str, got: str, said: str) -> None:
    html = shown(source, got)
    assert said in html
    assert "role='alert'" in html
