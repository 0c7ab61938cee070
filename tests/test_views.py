"""What the page makes of what it is given: the columns of its table, and the file of the metric."""

import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from conftest import ROOT
from test_readme import DOCS, FENCE, README, anchors, prose

from choices import restored
from views import EXAMPLES, FIRST, HEADERS, metric_card, metric_file, rows_of, score_ranking, table_of

CHOICES = ("linear", 2, "average", "0", "raise", "gain 0")
RANKING = [["a", "0", "2"], ["b", "1", "1"]]  # nDCG: 1 / log2(3) = 0.6309


def score_of(table: pd.DataFrame) -> str:
    return str(score_ranking(table, "10", *CHOICES)[0])


def test_columns_are_read_by_their_headers_in_any_order() -> None:
    table = table_of(RANKING)
    assert "0.6309" in score_of(table)
    for headers in (["score", "document", "relevance"], ["relevance", "score", "document"]):
        assert rows_of(table[headers]) == RANKING
        assert score_of(table[headers]) == score_of(table)


@pytest.mark.parametrize(
    "table",
    [
        table_of(RANKING).drop(columns="relevance"),
        table_of(RANKING).drop(columns="document"),
        table_of(RANKING).assign(**{"Header 4": ""}),
        table_of(RANKING).rename(columns={"relevance": "grade"}),
        table_of(RANKING)[["document", "score", "score"]],
        pd.DataFrame(RANKING),
    ],
    ids=lambda table: ", ".join(map(str, table.columns)),
)
def test_a_table_of_other_columns_has_no_score(table: pd.DataFrame) -> None:
    found = ", ".join(map(str, table.columns))
    score, *others = score_ranking(table, "10", *CHOICES)
    assert f"The table must have the columns document, relevance, score; it has {found}." in score
    assert others == [None] * 7


@pytest.mark.parametrize(
    "ranking",
    [
        "[[",
        "[1]",
        f'[["a",{"9" * 5000},1]]',
        "[" * 100_000,
        '[["a",1]]',
        '[["a",1,2,3]]',
        "[[]]",
        '{"a":1}',
        "[" + ",".join(['["a",1,2]'] * 501) + "]",
    ],
    ids=lambda text: text[:20],
)
def test_a_link_whose_rows_are_no_documents_is_not_read(ranking: str) -> None:
    found, unread = restored({"ranking": ranking}, EXAMPLES[FIRST])
    assert unread == ["ranking"]
    assert found[0] == EXAMPLES[FIRST]
    assert len(HEADERS) == 3


@pytest.mark.parametrize(
    ("parameters", "unread"),
    [
        ({"k": "x"}, []),
        ({"k": "9" * 999}, []),
        ({"convention": "none", "gain": "<b>", "log": "e"}, ["convention", "log", "gain"]),
    ],
    ids=str,
)
def test_what_a_link_lacks_is_as_usual(parameters: dict[str, str], unread: list[str]) -> None:
    (rows, cutoffs, *choices), found = restored(parameters, EXAMPLES[FIRST])
    assert found == unread
    assert rows == EXAMPLES[FIRST]
    assert choices == ["sklearn", *CHOICES]
    score = score_ranking(table_of(rows), cutoffs, *choices[1:])[0]
    assert ("is no cutoff" if "k" in parameters else "0.9608") in score


MENTIONS: dict[str, Any] = {
    "a.py": 'TEXT = "class NDCG(evaluate.Metric):"\n',
    "b.py": "# class NDCG(evaluate.Metric):\n",
    "c.py": "class Metrics:\n    class NDCG(int):\n        pass\n",
    "d.py": "class NDCGAtK(int):\n    pass\n",
}


@pytest.mark.parametrize("name", ["ndcg.py", "0.py", "zz.py"])
def test_the_metric_is_the_file_that_defines_its_class(tmp_path: Path, name: str) -> None:
    for other, text in MENTIONS.items():
        (tmp_path / other).write_text(text)
    with pytest.raises(RuntimeError, match="one file that defines the class NDCG; it holds none"):
        metric_file(tmp_path)
    (tmp_path / name).write_text("class NDCG(object):\n    pass\n")
    assert metric_file(tmp_path) == tmp_path / name
    (tmp_path / "copy.py").write_text("class NDCG:\n    pass\n")
    with pytest.raises(RuntimeError, match=r"it holds .*copy\.py"):
        metric_file(tmp_path)


@pytest.mark.parametrize("cell", ["1_000", "\u0661", "0x10", "1,5"])
def test_a_cell_is_a_number_where_a_file_would_hold_one(cell: str) -> None:
    score, *_ = score_ranking(table_of([["a", cell, "2"], *RANKING]), "10", *CHOICES)
    assert f"Row 1: relevance {cell!r} is not a number" in score.replace("&#x27;", "'")


def test_the_links_of_the_card_lead_within_it() -> None:
    card = metric_card(ROOT)
    links = re.findall(r"\]\(([^)\s]+)", prose(card))
    within = [link for link in links if not link.startswith("https://")]
    assert {"#h-forms", "#h-speed", "#h-padding"} < set(within)
    assert set(within) <= {f"#h-{anchor}" for anchor in anchors(card)}
    assert len(links) - len(within) == prose(README.read_text("utf-8")).count("](https://")
    pages = [page.read_text("utf-8") for page in (README, *DOCS)]
    assert FENCE.findall(card) == [block for page in pages for block in FENCE.findall(page)]
