"""Pasted rankings and runs, and the rows they become."""

import pytest

from page.paste import ids_as_run, pasted_rows

NUMBERED = [["d1", "3", "3"], ["d2", "2", "2"], ["d3", "0", "1"]]
JUDGED = [["a", "3", "2"], ["b", "0", "1"]]


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("3 2 0", NUMBERED),
        ("3, 2, 0\n", NUMBERED),
        ("[3, 2, 0]", NUMBERED),
        ("3\n2\n0", NUMBERED),
        ("3 - 0", [NUMBERED[0], ["d2", "", "2"], NUMBERED[2]]),
        ("a\t3\nb\t2", [["a", "3", "2"], ["b", "2", "1"]]),
        ("a 3 0.5\nb 2 -", [["a", "3", "0.5"], ["b", "2", ""]]),
        ("1,0.2\n0,0.9", [["d1", "1", "0.2"], ["d2", "0", "0.9"]]),
        ("a\t3\t0,95\nb\t0\t0,5", [["a", "3", "0,95"], ["b", "0", "0,5"]]),
        ("0,95;1\n0,5;0", [["d1", "0,95", "1"], ["d2", "0,5", "0"]]),
        ("score;docid;rel\n0.5;a;3\n0.1;b;0", [["a", "3", "0.5"], ["b", "0", "0.1"]]),
        ("['x', 'y']", [["x", "", "2"], ["y", "", "1"]]),
        ("query-id\tcorpus-id\tscore\nq1\ta\t3\nq1\tb\t0", JUDGED),  # BEIR's
        ("a,,0.5\nb,2,0.1", [["a", "", "0.5"], ["b", "2", "0.1"]]),
        ("a,,0.5\nb,,0.1", [["a", "", "0.5"], ["b", "", "0.1"]]),
        ("doc,score,rel\na,,3\nb,0.1,0", [["a", "3", ""], ["b", "0", "0.1"]]),
        (",a,3,\n,b,2,", [["a", "3", "2"], ["b", "2", "1"]]),
        ("3,,2", [["d1", "3", "2"], ["d2", "2", "1"]]),
        ("q1 0 a 3\nq1 0 b 0", JUDGED),  # TREC's
        ("qid,doc_id,label\nq1,a,3\nq1,b,0", JUDGED),
        ("Honey cake 0 6\nBees 3 5", [["Honey cake", "0", "6"], ["Bees", "3", "5"]]),
        ("Honey cake - 6\nBees at work 3 -", [["Honey cake", "", "6"], ["Bees at work", "3", ""]]),
        ("Honey cake 0\nBees 3", [["Honey cake", "0", "2"], ["Bees", "3", "1"]]),
        ("Honey cake 0\nBees inside 3", [["Honey cake", "0", "2"], ["Bees inside", "3", "1"]]),
        ("doc 1 3 0.9\ndoc 2 0 0.5", [["doc 1", "3", "0.9"], ["doc 2", "0", "0.5"]]),
        ("name relevance score\nHoney cake 3 2", [["Honey cake", "3", "2"]]),
        ("name,relevance,score\na,3,2\nb,0,1", JUDGED),
        ("q1 Q0 a 1 0.9 bm25\nq1 Q0 b 2 0.5 bm25", [["a", "", "0.9"], ["b", "", "0.5"]]),
    ],
    ids=repr,
)
def test_pasted_rankings_become_rows(text: str, rows: list[list[str]]) -> None:
    assert list(map(list, pasted_rows(text))) == rows


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "^there is no document; write relevances, such as"),
        ("a 1\nb 2 3", "^line 2 has 3 cells, in place of 2; "),
        ("doc\trel\na\t1\nb\t2\t3", "^line 3 has 3 cells, in place of 2; "),
        ("3 2 3 0\n1 2 3", "^line 1 has 4 cells, in place of 3; "),
        ("a 1 2 3 4\nb 2 3 4 5", "^line 1 has 5 cells, in place of 3; "),
        ("doc rel rel\na 1 1", "^the first line names a column twice"),
        (
            "q1 0 a 3\nq2 0 b 0",
            "of 2 queries, such as q1 and q2: paste one of them here, or all of them in Compare",
        ),
    ],
)
def test_a_text_that_is_not_a_ranking_is_answered_with_what_to_paste(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        pasted_rows(text)


def test_lists_of_ids_become_a_run_that_ranks_them_so() -> None:
    lines = [
        "q1 Q0 d3 1 3 pasted",
        "q1 Q0 d1 2 2 pasted",
        "q1 Q0 d7 3 1 pasted",
        "q:2 Q0 a:b 1 1 pasted",
    ]
    assert ids_as_run("q1: d3 d1, d7\n\n q:2:\ta:b \n").splitlines() == lines


@pytest.mark.parametrize(
    "text",
    ["q1 Q0 d1 1 0.9 t\n", '{"q1": {"d1": 1}}', "query,document,score\nq,d,1", "q1: d1\nq2 d2", ""],
    ids=repr,
)
def test_a_text_without_lists_of_ids_stays_as_it_is(text: str) -> None:
    assert ids_as_run(text) == text
