"""The tab of one ranking: its table is read with care, and its picture, numbers and code are the metric's."""

import html
import json
import re
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from page.choices import CHOICES, LABELS, bar_of, options_of
from page.contributions import Ranking
from page.metric import ndcg
from page.ranking import (
    EXAMPLES,
    Shown,
    ranking_of,
    rows_of,
    score_ranking,
    table_of,
    take_edit,
    take_paste,
)

BAR = bar_of("sklearn")
OPTIONS = options_of(*BAR)
RANKING = [["a", "0", "2"], ["b", "1", "1"]]  # nDCG: 1 / log2(3) = 0.6309


def shown(rows: Any, cutoffs: str = "10", *others: Any) -> Shown:
    found: Shown = score_ranking(table_of(rows), 0, cutoffs, *(others or BAR[1:]))
    return found


def test_columns_are_read_by_their_headers_in_any_order() -> None:
    table = table_of(RANKING)
    assert "0.6309" in shown(RANKING).picture
    for headers in (["score", "document", "relevance"], ["relevance", "score", "document"]):
        assert rows_of(table[headers]) == RANKING
        assert score_ranking(table[headers], 0, *BAR) == shown(RANKING)


@pytest.mark.parametrize(
    "table",
    [
        table_of(RANKING).drop(columns="relevance"),
        table_of(RANKING).assign(**{"Header 4": ""}),
        table_of(RANKING).rename(columns={"relevance": "grade"}),
        table_of(RANKING)[["document", "score", "score"]],
        pd.DataFrame(RANKING),
    ],
    ids=lambda table: ", ".join(map(str, table.columns)),
)
def test_a_table_of_other_columns_has_no_score(table: pd.DataFrame) -> None:
    found = ", ".join(map(str, table.columns))
    score, *others = score_ranking(table, 0, *BAR)
    assert f"The table must have the columns document, relevance, score; it has {found}." in score
    assert others == [None] * (len(Shown._fields) - 1)


@pytest.mark.parametrize("cell", ["1_000", "\u0661", "0x10", "1,000"])
def test_a_cell_is_a_number_where_a_file_would_hold_one(cell: str) -> None:
    error = shown([["a", cell, "2"], *RANKING]).picture
    assert f"Row 1: relevance {cell!r} is not a number" in error.replace("&#x27;", "'")


@pytest.mark.parametrize(
    ("cell", "number"), [("0,95", "0.95"), (",5", "0.5"), ("-1,25", "-1.25"), ("2,0", "2")]
)
def test_a_decimal_comma_is_a_point(cell: str, number: str) -> None:
    assert ranking_of([["a", "1", cell]], OPTIONS) == ranking_of([["a", "1", number]], OPTIONS)


def test_a_negative_relevance_is_rejected_by_its_row_and_the_fields_of_the_page() -> None:
    error = shown([*RANKING, ["d6", "-2", "0"]]).picture
    assert (
        "Row 3 (d6): relevance −2 is negative. Set Negative relevance in the options to clip"
        in error
    )


@pytest.mark.parametrize(
    ("others", "may_be_padding"), [(["-100"], True), (["-1"], False), (["-100", "-2"], False)]
)
def test_a_negative_relevance_that_may_be_padding_is_to_be_left_out_first(
    others: list[str], may_be_padding: bool
) -> None:
    rows = [
        *RANKING,
        *([f"d{at}", relevance, "0"] for at, relevance in enumerate(["-100", *others], 6)),
    ]
    error = shown(rows).picture
    leave_out = "If it is padding, leave its document out. " if may_be_padding else ""
    assert (
        f"Row 3 (d6): relevance −100 is negative. {leave_out}Set Negative relevance in the" in error
    )


LABELED = [["a", "no", "2"], ["b", "yes", "1"], ["c", "", "0.5"]]
BY_LABEL = [*BAR[:2], "yes=2, partly=1, no=0", *BAR[3:]]


def test_relevances_may_be_labels() -> None:
    found = shown(LABELED, *BY_LABEL)
    assert "<output class='value'>0.6309<" in found.picture
    assert re.findall(
        "data-relevance='(.*?)' aria-label='(.*?); press.*?>(.*?)<", found.picture
    ) == [
        ("no", "a: relevance no", "no"),
        ("yes", "b: relevance yes", "yes"),
        ("", "c: not judged", "not judged"),
    ]
    assert json.loads(html.unescape(re.findall("data-labels='(.*?)'", found.picture)[0])) == [
        "no",
        "partly",
        "yes",
    ]
    assert "<option selected>by label</option>" in found.picture
    assert "gain(r)" in found.picture
    assert "<li>Gain is by label: linear would make it no score" in found.changes
    assert re.findall("<td>(no|yes)</td>", found.ranks) == ["no", "yes"]
    event: Any = SimpleNamespace(ranked=["b", "a", "c"], missed=[], grades={"a": "partly"}, edits=1)
    rows, _, after, *_ = take_edit(event, table_of(LABELED), *BY_LABEL)
    assert rows == [["b", "yes", "2"], ["a", "partly", "1"], ["c", "", "0.5"]]
    assert "<output class='value'>1.0000<" in after


def test_levels_are_labels_too() -> None:
    levels = shown([["a", "1", "2"], ["b", "2", "1"]], *BAR[:2], "0=0, 1=0, 2=1", *BAR[3:])
    assert "<output class='value'>0.6309<" in levels.picture
    assert "data-labels='[&quot;0&quot;, &quot;1&quot;, &quot;2&quot;]'" in levels.picture


@pytest.mark.parametrize(
    ("bar", "said"),
    [
        (
            BAR,
            "Row 1: relevance 'no' is not a number; leave it empty if it was not judged; for labels, give their",
        ),
        (
            [*BAR[:2], "yes=2, bad=0", *BAR[3:]],
            "Row 1: 'no' is a label without a gain; Gain has 'bad', 'yes'.",
        ),
    ],
)
def test_a_label_without_a_gain_is_an_error_with_its_row(bar: Any, said: str) -> None:
    assert said in html.unescape(shown(LABELED, *bar).picture)


@pytest.mark.parametrize(
    ("options", "once"),
    [
        ({"ties": "first"}, Ranking(["a", "b", "c"], [0, 1, 2], [2, 1, None])),
        ({"ties": "last"}, Ranking(["b", "a", "c"], [1, 0, 2], [1, 2, None])),
        ({"score_order": "ascending"}, Ranking(["a", "b", "c"], [0, 1, 2], [0, 1, None])),
    ],
)
def test_a_document_that_is_listed_several_times_counts_once(
    options: dict[str, Any], once: Ranking
) -> None:
    rows = [["a", "0", "0"], ["a", "0", "2"], ["b", "1", "1"], ["a", "0", "2"], ["c", "2", ""]]
    best = OPTIONS | {"duplicates": "best"} | options
    assert ranking_of(rows, best) == once
    assert "Document 'a' appears twice" in html.unescape(shown(rows).picture)
    with pytest.raises(ValueError, match=r"^Document 'a' has two relevances; give it one\.$"):
        ranking_of([*rows, ["a", "1", "0"]], best)


def test_the_picture_and_the_numbers_are_of_the_largest_cutoff() -> None:
    for cutoffs, largest in (("1, 2", "2"), ("2, 1", "2"), ("1, all", "")):
        assert shown(RANKING, cutoffs).file == shown(RANKING, largest).file
    textbook = {"predictions": [[6, 5, 4, 3, 2, 1]], "references": [[3, 2, 3, 0, 1, 2]]}
    number = ndcg.compute(**textbook, k=[1, 3], measures=["nDCG", "DCG", "IDCG"])
    found = shown(EXAMPLES["Search: how do bees make honey"], "1,3")
    assert f"<output class='value'>{number['nDCG@3']:.4f}<" in found.picture
    assert f"<b>{number['DCG@3']:.4f}</b><small>DCG, this order<" in found.picture
    assert f"<b>{number['IDCG@3']:.4f}</b><small>DCG, ideal order<" in found.picture
    assert (
        f"<p class='others'><span>nDCG@1 <b>{number['nDCG@1']:.4f}</b></span></p>" in found.picture
    )
    rows = [re.findall("<td>(.*?)</td>", each) for each in found.ranks.split("<tr>")]
    *documents, sums = filter(None, rows)
    assert documents[1][:4] == ["2", "Inside a beehive", "2", "2.0000"]
    assert [row[4] for row in documents] == ["1.0000", "0.6309", "0.5000", *["0.0000"] * 3]
    assert [sums[5], sums[6]] == [f"{number['DCG@3']:.4f}", f"{number['IDCG@3']:.4f}"]


def test_the_effect_of_each_option_is_shown() -> None:
    changes = shown(RANKING).changes
    for name in CHOICES:
        assert f"<li>{LABELS[name]} is " in changes
    assert f"<li>{LABELS['gain']} is linear: no other choice changes this score.</li>" in changes
    reciprocal = ndcg.compute(predictions=[[2, 1]], references=[[0, 1]], discount="reciprocal")[
        "nDCG"
    ]
    assert f"reciprocal would make it {reciprocal:.4f}" in changes


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("Perfect", "No swap helps."),
        ("Reversed", "swap d1 and d4"),
        ("All tied", "anything from 0.6138 to 1.0000"),
        ("No relevant documents", "No relevant document was judged"),
        ("Relevant documents not retrieved", "retrieve d7 at rank 1"),
    ],
)
def test_an_example_shows_what_its_name_promises(name: str, said: str) -> None:
    found = shown(EXAMPLES[name])
    number = ndcg.compute(**ranking_of(EXAMPLES[name], OPTIONS).inputs, k=10)["nDCG@10"]
    assert f"<output class='value'>{number:.4f}<" in found.picture
    assert said in found.picture


def test_the_code_that_is_shown_computes_the_number() -> None:
    found = shown(RANKING, "3", 10, *bar_of("rax")[2:])
    _, begin, call = found.code.partition("ndcg.compute(")
    result = eval(begin + call, {"ndcg": ndcg})
    assert f"<output class='value'>{result['nDCG@3']:.4f}<" in found.picture
    assert found.signature == ndcg.signature(k=3, convention="rax", log_base=10)


def test_a_pasted_text_that_is_not_a_ranking_changes_nothing() -> None:
    problem, *unchanged = take_paste("q1 0 a 1\nq2 0 b 1")
    assert "These lines are of 2 queries, such as q1 and q2." in problem
    assert [each.get("__type__") for each in unchanged] == ["update"] * 2
    assert "value" not in unchanged[0]
    problem, table, title = take_paste("0 1")
    assert (problem, table.value["data"], title) == ("", [["d1", "0", "2"], ["d2", "1", "1"]], "")


def test_an_edit_of_the_cards_gives_them_an_order_and_relevance() -> None:
    event: Any = SimpleNamespace(ranked=["b"], missed=["a"], grades={"b": 3.0}, edits=7)
    rows, edits, *after = take_edit(event, table_of(RANKING), *BAR)
    assert (rows, edits) == ([["b", "3", "1"], ["a", "0", ""]], 7)
    assert after == [*score_ranking(table_of(rows), 7, *BAR)]
    assert "data-edits='7'" in after[0]
