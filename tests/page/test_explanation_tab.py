"""Explaining a score: the conventions that give it, for a ranking, files, a batch or the card's example."""

import re
from pathlib import Path

import evaluate
import pandas as pd
import pytest
from conftest import NOTHING_IN_COMMON

from page.choices import bar_of
from page.explanation import CARD_EXAMPLE, SOURCES, explain_reported
from page.guide import FIRST_RANKING
from page.metric import ndcg as loaded
from page.ranking import table_of

RANKING, RUNS, BATCH, CARD = SOURCES
TEXTBOOK = table_of(FIRST_RANKING)


def shown(
    source: str,
    got: str = "",
    batch: tuple[str, ...] = ("",) * 4,
    files: tuple = (None, None),
    values: str = "",
    own: str = "",
    table: pd.DataFrame = TEXTBOOK,
) -> str:
    return explain_reported(source, got, values, own, table, *files, *batch, *bar_of("sklearn"))


def owners(html: str) -> dict[str, str]:
    """The number of each convention."""
    return dict(re.findall(r"<tr>\s*<td>(.*?)</td>\s*<td>(.*?)</td>", html.partition("</table>")[0]))


def test_each_convention_has_its_number(ndcg: evaluate.Metric) -> None:
    found = owners(shown(CARD))
    assert set(found) == set(ndcg.explain(**CARD_EXAMPLE, k=10).scores)
    for name, number in found.items():
        assert number == f"{ndcg.compute(**CARD_EXAMPLE, k=10, convention=name)['nDCG@10']:.4f}"


def test_the_conventions_that_have_the_number_are_named_and_marked(ndcg: evaluate.Metric) -> None:
    matches = ndcg.explain(**CARD_EXAMPLE, k=10, got="0.6496").matches
    html = shown(CARD, "0.6496")
    assert f"<h3>0.6496 is the nDCG@10 of {', '.join(matches[:-1])} and {matches[-1]}.</h3>" in html
    assert html.count("<td>match</td>") == len(matches)
    assert "Why ranx_burges differs from sklearn" in html
    assert "match" not in shown(CARD)


def test_a_number_of_no_convention_is_that_of_one_with_a_choice_changed(ndcg: evaluate.Metric) -> None:
    number = ndcg.compute(**CARD_EXAMPLE, k=10, discount="reciprocal")["nDCG@10"]
    html = shown(CARD, f"{number:.6f}")
    assert f"<h3>sklearn, but discount=reciprocal gives {number:.6g} (convention=&#x27;sklearn&#x27;, " in html
    assert "nearest" not in html
    assert "combinations of options give it; by chance, about " in html


def test_scores_at_several_cutoffs_are_explained(ndcg: evaluate.Metric) -> None:
    scores = ndcg.compute(**CARD_EXAMPLE, measures=["nDCG@2", "nDCG@3"], convention="lightgbm")
    html = shown(CARD, f"{scores['nDCG@2']:.4f}@2,{scores['nDCG@3']:.4f}@3")
    assert " are the nDCG@2 of lightgbm" in html


def test_the_value_of_each_query_is_explained_by_id_or_in_order(ndcg: evaluate.Metric, tmp_path: Path) -> None:
    values = ndcg.compute(**CARD_EXAMPLE, k=10, convention="lightgbm", use_aggregator=False)["nDCG@10"]
    lines = "".join(f"{value:.4f}\n" for value in values)
    assert "These values of queries are the nDCG@10 of lightgbm" in shown(CARD, values=lines)
    (tmp_path / "qrels.txt").write_text("q 0 a 0\nq 0 b 1\np 0 a 1\n")
    (tmp_path / "bm25.run").write_text("q Q0 a 1 2 t\nq Q0 b 2 1 t\np Q0 a 1 2 t\n")
    files = (str(tmp_path / "qrels.txt"), [str(tmp_path / "bm25.run")])
    html = shown(RUNS, values="ndcg_cut_10 q 0.6309\nndcg_cut_10 p 1.0000\nndcg_cut_10 all 0.8155", files=files)
    assert html.startswith("<h3>bm25: These values of queries are the nDCG@10 of sklearn")
    html = shown(RUNS, values="q 0.1\np 1.0000", files=files)
    assert "No convention gives these values of queries; the nearest is " in html
    assert re.search("None of [0-9,]+ combinations of options gives it", html)
    assert "1 query differs from it: q." in html


def test_the_ranking_is_the_visitors_or_is_called_the_example(ndcg: evaluate.Metric) -> None:
    example = shown(RANKING, ".9608")
    assert "<h3>The page&#x27;s example: 0.9608 is the nDCG@10 of " in example
    edited = TEXTBOOK.copy()
    edited.iloc[0, 1] = "1"
    assert "example" not in shown(RANKING, ".9608", table=edited)
    number = ndcg.compute(predictions=[[2, 1]], references=[[1, 2]])["nDCG"]
    assert f"<h3>{number:.4f} is the nDCG@10 of " in shown(RANKING, f"{number:.4f}", own="1 2")
    assert "These lines are of 2 queries" in shown(RANKING, own="q1 0 d1 1\nq2 0 d1 1")


def test_the_pages_own_cutoffs_and_its_dcg_are_found(ndcg: evaluate.Metric) -> None:
    relevance = [float(each[1] or 0) for each in FIRST_RANKING]
    judged = {"predictions": [[6, 5, 4, 3, 2, 1]], "references": [relevance]}
    at_4 = ndcg.compute(**judged, k=4)["nDCG@4"]
    assert "k=4" in shown(RANKING, f"{at_4:.4f}")
    dcg = ndcg.compute(**judged, measures="DCG")["DCG"]
    assert "DCG" in shown(RANKING, f"{dcg:.2f}")


def test_a_slip_is_named_with_a_link_to_the_page_of_slips_in_a_space(
    ndcg: evaluate.Metric, monkeypatch: pytest.MonkeyPatch
) -> None:
    dcg = ndcg.compute(**CARD_EXAMPLE, k=10, measures="DCG")["DCG@10"]
    html = shown(CARD, f"{dcg:.6f}")
    assert f"<h3>sklearn with a slip gives {dcg:g}: DCG called nDCG.</h3>" in html
    assert re.search(r"<td>slip</td>\s*<td>none</td>\s*<td>DCG called nDCG</td>", html)
    assert "Why sklearn with a slip differs from sklearn" in html
    known = "<p>See all {}, with rankings that show them.</p>"
    assert known.format("known slips") in html
    right = ndcg.compute(**CARD_EXAMPLE, k=10)["nDCG@10"]
    assert "known slips" not in shown(CARD, f"{right:.4f}")
    monkeypatch.setenv("SPACE_ID", "someone/nDCG")
    address = "https://huggingface.co/spaces/someone/nDCG/blob/main/docs/slips.md"
    assert known.format(f"<a href='{address}' target='_blank'>known slips</a>") in shown(CARD, f"{dcg:.6f}")


def test_a_file_of_the_server_is_never_read(tmp_path: Path) -> None:
    path = tmp_path / "1"
    path.write_text("q1 0.5\n")
    for got in (str(path), "/etc/passwd"):
        assert "The score I got must be an nDCG" in shown(CARD, got)


def test_a_ranking_a_batch_and_runs_are_explained(ndcg: evaluate.Metric, tmp_path: Path) -> None:
    assert "0.9608 is the nDCG@10 of sklearn" in shown(RANKING, "0.9608")
    assert owners(shown(BATCH, batch=("[[1, 2]]", "[[0, 1]]", "", "")))["sklearn"] == "1.0000"
    (tmp_path / "qrels.txt").write_text("q 0 a 0\nq 0 b 1\n")
    (tmp_path / "bm25.run").write_text("q Q0 a 1 2 t\nq Q0 b 2 1 t\n")
    html = shown(RUNS, "0.6309", files=(str(tmp_path / "qrels.txt"), [str(tmp_path / "bm25.run")]))
    assert html.startswith("<h3>bm25: 0.6309 is the nDCG@10 of ")


@NOTHING_IN_COMMON
def test_a_note_says_that_a_run_has_no_document_in_common_with_the_qrels(tmp_path: Path) -> None:
    (tmp_path / "qrels.txt").write_text("q 0 7 1")
    (tmp_path / "other.run").write_text("q Q0 doc7 1 2 t")
    html = shown(RUNS, "0", files=(str(tmp_path / "qrels.txt"), [str(tmp_path / "other.run")]))
    assert "<li>No document was both retrieved and judged; first retrieved:" in html


@pytest.mark.parametrize(
    ("source", "got", "said"),
    [
        (RANKING, "many", "The score I got must be an nDCG"),
        (RUNS, "", "Upload the qrels"),
        (BATCH, "", "Give predictions"),
    ],
    ids=["no number", "no files", "no batch"],
)
def test_errors_are_shown(source: str, got: str, said: str) -> None:
    html = shown(source, got)
    assert said in html
    assert "role='alert'" in html


def test_the_example_is_the_cards() -> None:
    assert round(loaded.compute(**CARD_EXAMPLE)["nDCG"], 4) == 0.5921
