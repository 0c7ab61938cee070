"""The files of a comparison: what each is read as, what a press changes, how long they are kept."""

import os
import time
from pathlib import Path
from typing import Any

import pytest
from visitor import Page, look, send

from page import files
from page.files import paths_of, run_names

pytestmark = pytest.mark.xdist_group("page")  # which takes seconds to open

QRELS = "q1 0 a 1\nq1 0 b 2\nq2 0 a 2\nq3 0 a 1\n"
X = "q1 Q0 a 1 2 t\nq1 Q0 b 2 1 t\nq2 Q0 a 1 1 t\n"
Y = "q1 Q0 b 1 1 t\nq3 Q0 z 1 1 t\nq4 Q0 a 1 1 t\n"
BEIR = "query-id\tcorpus-id\tscore\nq1\ta\t1\nq1\tb\t2\nq2\ta\t2\nq3\ta\t1\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Files that are kept go into a folder of their own."""
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path))
    return tmp_path


def chips(page: Page) -> list[str]:
    return page.found('class="chip[^"]*"><b>(.*?)</b>')


def judgments(page: Page) -> list[str]:
    (field,) = page.found('(?s)<select data-choose="judgments">(.*?)</select>')
    return Page(field).found("<option selected>(.*?)</option>")


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        ({"qrels.txt": QRELS, "x.run": X}, "qrels.txt"),
        ({"a.txt": X, "b.txt": QRELS}, "b.txt"),
        ({"gold.csv": "query,document,relevance\nq1,a,1\n", "x.run": X}, "gold.csv"),
        # each could be either: the name tells
        ({"test.tsv": BEIR, "qrels.tsv": BEIR, "x.run": X}, "qrels.tsv"),
        ({"run.tsv": BEIR.replace("\t1", "\t0.5"), "truth.tsv": BEIR}, "truth.tsv"),
        ({"qrels.txt": QRELS}, "qrels.txt"),
    ],
    ids=str,
)
def test_the_file_with_the_judgments_is_recognized(sent: dict[str, str], expected: str) -> None:
    assert judgments(send(**sent)) == [expected]


def test_another_file_is_taken_for_the_judgments_by_one_choice() -> None:
    page = send(**{"one.tsv": BEIR, "qrels.tsv": BEIR, "two.tsv": BEIR})
    assert (judgments(page), chips(page)) == (["qrels.tsv"], ["one", "two"])
    page = look(f"{page.address}&judgments=one.tsv")
    assert (judgments(page), chips(page)) == (["one.tsv"], ["qrels", "two"])


def test_files_are_added_to_those_before_and_removed_one_by_one() -> None:
    page = send(**{"qrels.txt": QRELS})
    assert "There is no run yet: add its file." in page.text
    page = send(page.address, **{"x.run": X})
    assert chips(page) == ["x"]
    both = send(page.address, **{"y.run": Y})
    assert chips(both) == ["x", "y"]
    assert chips(send(both.address, without="x.run")) == ["y"]
    # the address of before still shows what it did
    assert chips(look(page.address)) == ["x"]


def test_two_files_of_one_name_are_two() -> None:
    page = send(**{"qrels.txt": QRELS, "x.run": X})
    assert chips(send(page.address, **{"x.run": Y})) == ["x (2)", "x"]


def test_texts_are_pasted_in_any_format_or_as_lists_of_ids() -> None:
    page = send(text=QRELS)
    page = send(page.address, text="q1: a b\nq2: a\nq3: a")
    assert "has nDCG@10" in page.says("verdict")
    page = send(page.address, text='{"q1": {"b": 2, "a": 1}, "q2": {"a": 1}, "q3": {"a": 1}}')
    assert len(chips(page)) == 2


def test_a_bad_file_is_a_red_chip_and_the_others_are_compared() -> None:
    page = send(**{"qrels.txt": QRELS, "x.run": X, "y.run": Y, "bad.run": "q1 Q0 a 1 high t"})
    assert page.found('class="chip bad"><b>(.*?)</b>') == ["bad"]
    assert "bad.run: line 1: the score 'high' is not a number." in page.text
    assert "cannot be told apart" in page.says("verdict")
    assert page.found('data-run="(\\w+)"')[:2] == page.found('<th scope="col" title="(.*?)"')


def test_a_run_without_a_query_of_the_judgments_is_left_out() -> None:
    page = send(**{"qrels.txt": QRELS, "x.run": X, "other.run": "z Q0 a 1 1 t"})
    said = (
        "no query of it is in the judgments: ids are such as 'z' here, and 'q1' in the judgments."
    )
    assert f"other.run: {said}" in page.text
    assert "x has nDCG@10" in page.says("verdict")
    page = send(**{"qrels.txt": QRELS, "x.run": X, "text.txt": "z words"})
    assert f"text.txt: {said}" in page.text
    assert "x has nDCG@10" in page.says("verdict")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("hello world", "pasted.txt: line 1: 2 columns; a run has 6: query Q0 document rank"),
        ("hello", "pasted.txt: line 1: 1 column; a run has 6: query Q0 document rank"),
        ('{"a": 1}', "pasted.txt: query 'a': got 1; give a list of ids or hits"),
        (
            '{"predictions": [[0.9, 0.1]], "references": [[1, 0, 2]]}',
            "pasted.txt: query 1: predictions and references differ in length, 2 and 3",
        ),
        ("predictions = scores\nreferences = [[1, 0]]", "pasted.txt: is neither JSON nor Python"),
        ("predictions = [[1, 0]", "pasted.txt: is neither JSON nor Python"),
    ],
)
def test_a_text_that_cannot_be_read_says_why_at_the_box(text: str, said: str) -> None:
    page = send(text=text)
    assert said in page.says("files")
    assert "There are no judgments yet: choose their file, or add it." in page.says("problem")
    both = send(send(**{"qrels.txt": QRELS, "x.run": X}).address, text=text)
    assert "pasted.txt: " in both.says("files")
    assert "x has nDCG@10" in both.says("verdict")


def test_an_empty_text_and_the_last_file_leave_the_samples() -> None:
    assert send(text="  ").address == "?tab=compare"
    page = send(f"{send(text=QRELS).address}&judgments=pasted.txt", without="pasted.txt")
    assert (page.notes, page.address) == ([], "?tab=compare")
    assert "These are two sample runs." in page.text


@pytest.mark.parametrize(("one", "other"), [("1", "0"), ("yes", "no")])
def test_a_table_of_scores_and_relevances_is_a_run_and_its_judgments(one: str, other: str) -> None:
    rows = [f"u1,i1,0.9,{one}", f"u1,i2,0.5,{other}", f"u2,i1,0.3,{other}", f"u2,i4,0.5,{one}"]
    table = "\n".join(["user_id,item_id,score,label", *rows])
    page = send("?tab=compare&gain=yes=1,no=0,1=1,0=0", **{"one.csv": table})
    assert (judgments(page), chips(page)) == (["one.csv"], ["one"])
    assert "one has nDCG@10 1.000." in page.text
    chosen = look(f"{page.address}&judgments=one.csv")
    assert "one has nDCG@10 1.000." in chosen.text
    # beside other judgments it is a run
    beside = send(page.address, **{"qrels.txt": "u1 0 i2 1\nu2 0 i1 1\n"})
    assert judgments(beside) == ["qrels.txt"]
    assert "one has nDCG@10 0.631." in beside.text


def test_a_pasted_run_has_the_name_of_its_tag() -> None:
    page = send(send(text=QRELS).address, text=X.replace(" t\n", " bm25\n"))
    assert chips(page) == ["bm25"]
    assert chips(send(page.address, text=Y.replace(" t\n", " bm25\n"))) == ["bm25 (2)", "bm25"]


@pytest.mark.parametrize(
    ("sent", "press", "before"),
    [
        (
            {
                "qrels.txt": QRELS,
                "l2.csv": "query,document,distance\nq1,b,0.1\nq1,a,0.5\nq2,a,0.3\n",
            },
            "Rank the lowest first",
            "l2.csv: no score under a standard name. Rank the lowest first",
        ),
        (
            {"qrels.txt": QRELS, "chunks.run": X.replace("b 2", "a 2")},
            "Count each document once",
            "chunks.run: line 2: document 'a' of query 'q1' is in line 1 already. Count each",
        ),
        (
            {"qrels.txt": QRELS.replace("b 2", "b -2"), "x.run": X},
            "Count a negative relevance as 0",
            "qrels.txt: query 'q1', document 'b': the relevance -2 is negative. Count a negative",
        ),
    ],
)
def test_what_an_option_mends_is_mended_by_one_press(sent: Any, press: str, before: str) -> None:
    page = send(**sent)
    assert before in page.text
    assert "has nDCG@10" not in page.text
    mended = page.follow(press)
    assert before not in mended.text
    assert "has nDCG@10" in mended.text


def test_runs_are_named_by_their_files_each_by_a_name_of_its_own() -> None:
    files_ = ["bm25.run", "bm25.txt.gz", "bm25.CSV", ".run", "bm25.jsonl.zst", "v1.2"]
    assert run_names(files_) == ["bm25", "bm25 (2)", "bm25 (3)", ".run", "bm25 (4)", "v1.2"]


def test_the_long_beginning_of_all_names_is_left_out() -> None:
    begin = "msmarco-dev-small-bge-base-en-v1.5-"
    page = send(**{"qrels.txt": QRELS, f"{begin}x.run": X, f"{begin}y.run": Y})
    assert chips(page) == ["x", "y"]


def test_a_long_name_is_cut_to_what_a_file_system_takes() -> None:
    page = send(**{"qrels.txt": QRELS, f"{'検索' * 120}.run": X})
    (chip,) = chips(page)
    assert set(chip) == {"検", "索"}


def test_groups_are_recognized_and_every_figure_has_them() -> None:
    groups = {"languages.csv": "query,group\nq1,de\nq2,fr\nq3,de\n"}
    page = send(**{"qrels.txt": QRELS, "x.run": X, **groups})
    assert chips(page) == ["x"]
    assert "Groups:" in page.text
    assert "de" in page.says("folds").split()
    said = "nDCG@10 by group group queries x de 2 0.430 fr 1 1.000"
    assert said in page.says("verdict")
    both = send(page.address, **{"x2.run": X})
    assert "group queries x x2 de 2 0.430 0.430" in both.says("verdict")
    one = send(**{"qrels.txt": "q1 0 a 1\n", "x.run": X, "x2.run": X, **groups})
    assert "by group" not in one.says("verdict")


def test_groups_in_one_of_several_columns_are_refused_without_a_path(folder: Path) -> None:
    page = send(**{"qrels.txt": QRELS, "x.run": X, "y.csv": "query,doc,relevance\nq1,d1,1\n"})
    page = look(page.address.replace("files=", "groups=y.csv&files="))
    has = "y.csv: has the columns 'query', 'doc', 'relevance'"
    assert f"{has}." in page.text
    assert str(folder) not in page.source


# --- Keeping --------------------------------------------------------------------------------------


def test_files_are_kept_for_a_day(folder: Path) -> None:
    page = send(**{"qrels.txt": QRELS, "x.run": X})
    (kept,) = (folder / "sets").iterdir()
    old = time.time() - files.KEPT - 60
    os.utime(kept, (old, old))
    assert chips(look(page.address)) == ["x"]  # until somebody else keeps files
    send(**{"qrels.txt": QRELS})
    again = look(page.address)
    assert again.notes == ["The files of this link are not kept any more; these are the samples."]
    assert chips(again) == ["bm25", "dense"]


@pytest.mark.parametrize("token", ["", "..", "../../etc", "a" * 15, "a" * 17, "a/b" * 5])
def test_a_name_that_is_no_set_leads_nowhere(folder: Path, token: str) -> None:
    (folder / "sets").mkdir()
    (folder / "file").write_text("secret")
    assert paths_of(token) == []


@pytest.mark.parametrize("name", ["../x.run", "/etc/x.run", "..", "a\nb\x1b.run", "x" * 400])
def test_a_file_is_kept_in_its_set_whatever_its_name(folder: Path, name: str) -> None:
    page = send(**{"qrels.txt": QRELS, name: X})
    (token,) = page.address.split("files=")[1:]
    kept = paths_of(token)
    assert len(kept) == 2
    assert all(path.parent == folder / "sets" / token and path.name.isprintable() for path in kept)
    assert "has nDCG@10" in page.text


def test_files_are_limited_in_number_and_together(
    monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    page = send(**{"qrels.txt": QRELS})
    for unit, most in (("bytes", 100), ("rows", 5)):
        with monkeypatch.context() as patch:
            patch.setattr(files, "TOGETHER", {"bytes": 10**9, "rows": 10**9, unit: most})
            full = send(page.address, **{"x.run": X, "y.run": Y})
            assert f"the files hold more than {most} {unit} together" in full.text
    with monkeypatch.context() as patch:
        patch.setattr(files, "MOST_FILES", 3)
        full = send(page.address, **{f"{name}.run": X for name in "abc"})
        assert "Nothing was added: 4 files; at most 3 are compared." in full.notes
    with monkeypatch.context() as patch:
        patch.setattr("page.site.TOGETHER", {"bytes": 100})
        full = send(page.address, **{"x.run": X * 10})
        assert full.notes == ["The files hold more than 100 bytes together; nothing was added."]
    assert chips(look(page.address)) == []


def test_more_runs_than_are_compared_are_counted() -> None:
    page = send(**{"qrels.txt": QRELS, **{f"run{at}.run": X for at in range(21)}})
    assert "21 runs; at most 20 are compared." in page.text
